"""Vectors: particles, rays, rotations, neighbourhoods and feature vectors."""

from __future__ import annotations

from generators._vector_boxes import bounding_boxes
from generators._vector_camera import pinhole_camera
from generators._vector_cells import grid_cells
from generators._vector_cloth import spring_network
from generators._vector_colour import colour_grading
from generators._vector_curves import curve_points
from generators._vector_distance import point_distance
from generators._vector_features import compare_features
from generators._vector_fields import vector_fields
from generators._vector_neighbours import neighbour_forces
from generators._vector_norms import embedding_norms
from generators._vector_orbits import orbit_step
from generators._vector_particles import particle_step, particle_structs
from generators._vector_projection import vector_projection
from generators._vector_ray_hits import ray_shapes
from generators._vector_rays import ray_sphere
from generators._vector_rotations import rigid_motion
from generators._vector_sdf import signed_distance
from generators._vector_shading import shading
from generators._vector_steering import steering
from generators._vector_surfaces import surface_response
from generators._vector_triangles import triangle_geometry
from generators.registry import Category

CATEGORY = Category("vector", "vectors, rotations and structs: particles, rays, geometry")

for _idiom in (
    surface_response,
    ray_sphere,
    rigid_motion,
    neighbour_forces,
    particle_step,
    particle_structs,
    compare_features,
    vector_projection,
    point_distance,
    ray_shapes,
    triangle_geometry,
    steering,
    spring_network,
    signed_distance,
    embedding_norms,
    bounding_boxes,
    colour_grading,
    shading,
    vector_fields,
    curve_points,
    orbit_step,
    pinhole_camera,
    grid_cells,
):
    CATEGORY.idiom(_idiom)
